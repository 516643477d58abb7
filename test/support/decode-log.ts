import { type Captured, createCapture } from '../../lib/capture/capture.ts';

/** Separates and verifies a whole log. Throws CaptureError. */
export function decodeLog(log: Uint8Array, ...options: Parameters<typeof createCapture>): Captured {
  const capture = createCapture(...options);
  capture.push(log);
  return capture.finish();
}
