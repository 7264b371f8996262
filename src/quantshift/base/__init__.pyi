from .seeding import generator as generator
