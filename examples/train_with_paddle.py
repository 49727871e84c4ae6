# SPDX-License-Identifier: Apache-2.0
"""A training by paddle.Model.fit whose steps opscope records."""

import paddle

from opscope.integrations.paddle import OpscopeCallback


def main():
    layers = paddle.nn.Sequential(paddle.nn.Linear(64, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 10))
    model = paddle.Model(layers)
    model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
    rows = paddle.io.TensorDataset([paddle.randn([192, 64]), paddle.randint(0, 10, [192, 1])])
    callback = OpscopeCallback("opscope-run", record_shapes=True, profile_memory=True)
    model.fit(rows, callbacks=[callback], batch_size=8, epochs=1, verbose=0)
    print("\n".join(callback.files))


if __name__ == "__main__":
    main()
