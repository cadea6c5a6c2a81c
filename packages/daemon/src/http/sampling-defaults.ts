/** The defaults of llama.cpp's own server. Without these defaults, small models ramble. */
export const samplingDefaults = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 }
