def is_help(said: str) -> bool:
    return "not alone" in said
