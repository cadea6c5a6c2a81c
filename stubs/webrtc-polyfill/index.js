// Peers in Node speak TCP. Without these names there is no WebRTC, and nobody misses it.
export const RTCPeerConnection = undefined
export const RTCSessionDescription = undefined
export const RTCIceCandidate = undefined
export default {}
