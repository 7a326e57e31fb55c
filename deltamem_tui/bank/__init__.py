"""What was learnt, on disk: nodes, trees and the bank that holds them."""
