import { characters, type LimitGroup, row } from './row.ts';

export const requests: LimitGroup = {
  title: 'A request to the HTTP API',
  rows: [
    row(
      'Memory that the JSON of a body takes',
      'parsedJsonBytes',
      'bytes',
      'it would take more than … bytes of memory',
    ),
    row('Levels of a body', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    row('Body of a webhook, as it is sent and as it is decoded', 'webhookBodyBytes', 'bytes', 'is larger than … bytes'),
    row(
      'Content of a stimulus, as of a decoded webhook',
      'executionInputBytes',
      'bytes',
      'an execution holds at most …',
    ),
    row('An idempotency key', 'idempotencyKeyLength', 'characters', 'characters; at most … are allowed'),
    row('Items a page', 'pageSizeMax', 'items', 'more than … counts as …'),
    characters('Words that a list is searched for', 'searchLength'),
  ],
};
