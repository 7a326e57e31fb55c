"""The parts that screens are made of. Bank text reaches them as data, never as markup."""
