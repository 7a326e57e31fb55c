"""Episodes before they are learnt: imported, given outcomes and scenes."""
