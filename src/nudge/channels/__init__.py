"""Ways to reach the person: the terminal, Telegram, e-mail."""
