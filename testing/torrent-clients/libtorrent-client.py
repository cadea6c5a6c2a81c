"""Downloads a torrent or a magnet with libtorrent's default settings, but without connections to other machines.

If an address of this machine in a local network is given, the client discovers peers there.
"""

import sys
import time

import libtorrent

torrent, folder, *local = sys.argv[1:]
session = libtorrent.session(
    {
        "listen_interfaces": f"{local[0] if local else '127.0.0.1'}:0",
        "enable_dht": False,
        "enable_lsd": bool(local),
        "enable_upnp": False,
        "enable_natpmp": False,
    }
)
if torrent.startswith("magnet:"):
    parameters = libtorrent.parse_magnet_uri(torrent)
else:
    parameters = libtorrent.add_torrent_params()
    parameters.ti = libtorrent.torrent_info(torrent)
parameters.save_path = folder
session.add_torrent(parameters)

while True:
    for alert in session.pop_alerts():
        print(alert.message())
    time.sleep(0.1)
