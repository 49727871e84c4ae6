
£	/host:CPU2½pythonè