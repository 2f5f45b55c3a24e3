# SPDX-License-Identifier: BSD-3-Clause
"""What Python programs move in a second through libpubsub and through other libraries.

``python -m libpubsub.bench`` compares, ``python -m libpubsub.bench.alone`` looks at the parts of this package by
themselves. ``pubsub bench python`` runs the former.
"""
