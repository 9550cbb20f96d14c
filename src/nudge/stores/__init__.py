"""SQLite and PostgreSQL: drivers, migrations, named SQL."""
