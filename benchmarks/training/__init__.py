"""Figures of training: systems over seeds, pictures against spelling, the speed of steps and of backbones."""
