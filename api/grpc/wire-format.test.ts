import { describe, expect, it } from 'vitest';
import { IngestStimulusRequest, IngestStimulusResponse } from '../../proto/generated/windlass/runtime/v1/runtime.ts';

/** Each byte 0x0a, 0x12, 0x1a, 0x22 is a field's number, 1 to 4, with the wire type of text; a length follows. */
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('messages of the runtime service on the wire', () => {
  it('AMB-050 source, content, idempotency_key and headers are the fields 1 to 4', () => {
    const request = { source: 's', content: 'c', idempotencyKey: 'k', headers: { h: 'v' } };
    expect(hex(IngestStimulusRequest.encode(request).finish())).toBe(
      '0a0173' + '120163' + '1a016b' + '22060a0168120176',
    );
  });

  it('AMB-050 stimulus_id and workflow_execution_id are the fields 1 and 2', () => {
    const response = { stimulusId: 's', workflowExecutionId: 'w' };
    expect(hex(IngestStimulusResponse.encode(response).finish())).toBe('0a0173' + '120177');
  });
});
