"""The environments that the program knows: ALFWorld, ScienceWorld and WebShop."""
