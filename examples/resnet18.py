# SPDX-License-Identifier: Apache-2.0
"""ResNet-18, written out so that the examples need torch and nothing else.

The layout of the network is that of He et al., "Deep Residual Learning for Image Recognition" (2015), table 1.
"""

import torch
from torch import nn


class Block(nn.Module):
    """Two 3x3 convolutions with a shortcut around them; the shortcut is projected where the shape changes."""

    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride, bias=False), nn.BatchNorm2d(channels_out)
            )

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet18(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        blocks = []
        channels_in = 64
        for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Block(channels_in, channels, stride), Block(channels, channels, 1)]
            channels_in = channels
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(512, classes)

    def forward(self, x):
        return self.classify(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))
