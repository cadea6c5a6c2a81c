#!/bin/sh
# libtorrent 2.0.8 (Debian 12: python3-libtorrent 2.0.8-1+b1): the Host header of a request to an IPv6 address has no
# brackets.
#
# RFC 9110 and RFC 3986 require `Host: [fd99::1]:8000`. libtorrent announces itself to a tracker at an address with
# `Host: fd99::1:8000`, which is also a valid address without a port. A server that checks the header refuses every
# announce with 400, and the client only reports that the tracker failed. qBittorrent and Deluge use this library.
#
# Output: the header of an announce to a tracker at [::1], with PORT instead of the port.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download -qq \
  python3-libtorrent=2.0.8-1+b1 libtorrent-rasterbar2.0=2.0.8-1+b1 libboost-python1.74.0=1.74.0+ds1-21
for package in ./*.deb; do dpkg -x "$package" .; done
cat >run.py <<'END'
import hashlib, socket, threading
import libtorrent

server = socket.create_server(('::1', 0), family=socket.AF_INET6)
port = server.getsockname()[1]
announced = threading.Event()

def answer_once():
    connection, _ = server.accept()
    for line in connection.recv(65536).decode().split('\r\n'):
        if line.lower().startswith('host:'):
            print(line.replace(str(port), 'PORT'))
    body = b'd8:intervali1800e5:peers0:e'
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b' % (len(body), body))
    connection.close()
    announced.set()

threading.Thread(target=answer_once, daemon=True).start()
quiet = {f'enable_{name}': False for name in ('dht', 'lsd', 'upnp', 'natpmp')}
session = libtorrent.session({'listen_interfaces': '[::1]:0', **quiet})
magnet = 'magnet:?xt=urn:btih:' + hashlib.sha1(b'an example').hexdigest()
torrent = libtorrent.parse_magnet_uri(magnet)
torrent.save_path = '.'
torrent.trackers = [f'http://[::1]:{port}/announce']
session.add_torrent(torrent)
announced.wait(30)
END
PYTHONPATH=$folder/usr/lib/python3/dist-packages \
  LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu) /usr/bin/python3 run.py >found
cat found
echo 'Host: ::1:PORT' | diff - found
