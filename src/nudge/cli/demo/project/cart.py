"""A shopping cart. Prices are in cents."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def total(self):
        return sum(price for name, price, count in self.items)

    def discounted(self, percent):
        return self.total() - self.total() * percent
