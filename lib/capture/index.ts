export { type Captured, createCapture, decodeLog, isProven } from './capture.ts';
export { CaptureError } from './capture-error.ts';
export type { StreamName, CapturedStreams } from './captured-streams.ts';
export { createDecoder, type LogEvent } from './decoder.ts';
export { outputText } from './output-text.ts';
export { parseTerminationMessage } from './parse-trailer.ts';
export type { StreamReport, Trailer } from './trailer.ts';
