import unittest

from cart import Cart


class CartTest(unittest.TestCase):
    def test_total_counts_every_piece(self):
        cart = Cart()
        cart.add("pen", 120, 3)
        self.assertEqual(cart.total(), 360)

    def test_ten_percent_off(self):
        cart = Cart()
        cart.add("book", 1000)
        self.assertEqual(cart.discounted(10), 900)


if __name__ == "__main__":
    unittest.main()
