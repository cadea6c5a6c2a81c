/** Hosts that must always be recognized as this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3). */
export const loopbackHosts = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'foo.localhost',
  'a.b.localhost',
  'Foo.Localhost.',
  '127.0.0.1',
  '127.1.2.3',
  '127.255.255.254',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '[::ffff:127.0.0.1]',
  '::ffff:7f12:3456',
]

/** Hosts that must never be recognized as this machine. */
export const otherHosts = [
  '127.example.org',
  '127.0.0.1.example.org',
  'localhost.example.org',
  'notlocalhost',
  '128.0.0.1',
  '126.255.255.255',
  '10.0.0.1',
  '192.168.1.7',
  '0.0.0.0',
  '::',
  '[::2]',
  '::ffff:128.0.0.1',
  '::ffff:0:127.0.0.1',
  '::7f00:1',
  'example.org',
]
