import { expect, it } from 'vitest';
import { outputText } from './output-text.ts';

const cases: Record<string, [number[], string]> = {
  'AMB-164 plain text stays': [[0x61, 0x0a], 'a\n'],
  'AMB-164 NUL stays': [[0x61, 0x00, 0x62], 'a\0b'],
  'AMB-164 a byte order mark stays': [[0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
  'AMB-164 characters of two, three and four bytes stay': [[...Buffer.from('é€😀')], 'é€😀'],
  'AMB-164 a lone byte becomes U+FFFD': [[0x61, 0xff, 0x62], 'a\ufffdb'],
  'AMB-164 an unfinished character at the end becomes one U+FFFD': [[0x61, 0xe2, 0x82], 'a\ufffd'],
  'AMB-164 a surrogate half in UTF-8 is invalid': [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
  'AMB-164 no bytes are the empty text': [[], ''],
};

it.each(Object.entries(cases))('%s', (_title, [bytes, want]) => {
  expect(outputText(Uint8Array.from(bytes))).toBe(want);
});
