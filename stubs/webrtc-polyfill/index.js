// Peers in Node use TCP. With these names undefined, webtorrent does not use WebRTC.
export const RTCPeerConnection = undefined
export const RTCSessionDescription = undefined
export const RTCIceCandidate = undefined
export default {}
