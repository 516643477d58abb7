export { type Captured, createCapture, decodeLog, isProven } from './capture.ts';
export { CaptureError } from './capture-error.ts';
export type { StreamName, CapturedStreams } from './captured-streams.ts';
export { outputText } from './output-text.ts';
export { parseTerminationMessage } from './parse-trailer.ts';
export type { Trailer } from './trailer.ts';
