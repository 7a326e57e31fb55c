"""Nodes, trees and the bank that holds them, on disk."""
