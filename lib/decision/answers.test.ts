import { describe, expect, it } from 'vitest';
import type { Transition } from '../../crds/schema/transition.ts';
import { judge, namedAnswers } from './answers.ts';

const yes: Transition = { condition: 'input_equals_yes', target: 'a' };
const no: Transition = { condition: 'input_equals_no', target: 'b' };
const blue: Transition = { condition: 'input_equals', value: 'blue', target: 'c' };
const custom: Transition = { condition: 'custom', expression: 'x', target: 'd' };
const any: Transition = { target: 'e' };

describe('what the rules of a gate say of a response', () => {
  it.each<[rules: Transition[], response: string, verdict: string]>([
    [[yes, no], 'approved', 'matches'],
    [[yes, no], ' No ', 'matches'],
    [[yes, no], 'maybe', 'never'],
    [[yes], 'rejected', 'never'],
    [[blue], 'blue', 'matches'],
    [[blue], 'Blue', 'never'],
    [[yes, custom], 'maybe', 'depends'],
    [[custom, yes], 'yes', 'matches'],
    [[yes, any], 'maybe', 'matches'],
    [[], 'maybe', 'matches'],
  ])('AMB-170 %j, %j: %s', (rules, response, verdict) => expect(judge(rules, response)).toBe(verdict));
});

describe('the answers that a hint names', () => {
  const value = (length: number): Transition => ({ ...blue, value: 'x'.repeat(length) });

  it.each<[rules: Transition[], answers: string[]]>([
    [
      [yes, no],
      ['approved', 'rejected'],
    ],
    [
      [no, blue, yes],
      ['rejected', 'blue', 'approved'],
    ],
    [[yes, yes], ['approved']],
    [[any], ['approved', 'rejected']],
    [[], ['approved', 'rejected']],
    [[custom], []],
    [[value(127)], ['x'.repeat(127)]],
    [[value(128)], ['x'.repeat(128)]],
    [[value(129)], []],
  ])('AMB-170 %j: %j', (rules, answers) => expect(namedAnswers(rules)).toEqual(answers));
});
