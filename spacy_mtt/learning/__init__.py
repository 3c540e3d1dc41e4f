"""Objectives and trainers: from scores and gold trees to losses and gradients."""
