"""What every part of the browser knows: keys, notes, the long work, the open bank."""
