"""Episodes before they are learnt: taken in, judged, admitted."""
