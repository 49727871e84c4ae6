
8	/host:CPUtûÚÂÊ¡ö„õ"èĞ"absolute
eTask Environment*profile_stop_time*profile_start_time2 ÙÂÊ¡ö„õ2 ëÁË¡ö„õ