"""Language models, one folder per provider."""
