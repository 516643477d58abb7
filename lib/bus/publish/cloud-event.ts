import type { BusEvent } from '../event-bus.ts';

/** The form of an event in a stream: CloudEvents 1.0 in the JSON format, with the extension `tenant`. */
interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly tenant: string;
  readonly data: BusEvent['data'];
}

/** Media type of a message that is a whole event. */
export const cloudEventMediaType = 'application/cloudevents+json; charset=utf-8';

export function cloudEventOf({ id, source, type, subject, time, tenant, data }: BusEvent): CloudEvent {
  return {
    specversion: '1.0',
    id,
    // A URI reference, as the specification of CloudEvents asks for.
    source: `/windlass/${source}`,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
    tenant,
    data,
  };
}
