import { describe, expect, it } from 'vitest';
import { LargeValue } from '../template/large-value.ts';
import { prices, workLimits } from '../work/limits.ts';
import { createScope, type ScopeFacts } from '../template/scope.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { evaluate } from './evaluate.ts';
import { ExpressionError } from './expression-error.ts';

const blackboard = {
  build: { status: 'success', output: { exit_code: 0, stdout: ' 7\n', stderr: '' } },
  review: { score: 0.8, output: '{"verdict":"go","tags":[]}' },
  flag: true,
  off: false,
  zero: 0,
  empty: '',
  nil: null,
  list: [],
  object: {},
  items: [1],
  big: new LargeValue('ref-1', 4_000),
};

function scope(facts: Partial<ScopeFacts> = {}) {
  return createScope({
    input: { count: '5', name: 'Ada' },
    workflow: {},
    blackboard,
    human: { feedback: 'yes' },
    execution: { id: 'e-1' },
    stateNames: ['build', 'review', 'later'],
    completedStates: ['build', 'review'],
    ...facts,
  });
}

function holds(source: string): boolean {
  const result = evaluate(source, scope());
  if (result.kind === 'needs') throw new Error(`needs ${result.refs.join()}`);
  return result.value;
}

describe('evaluate', () => {
  it.each([
    ['{{build.output.exit_code}} == 0 && !{{blackboard.skip}}', true],
    ['{{review.score}} >= 0.8 || {{human.feedback}} == "no"', true],
    ['review.score > 0.8', false],
    ['review.score < 0.8', false],
    ['review.score <= 0.8', true],
    ['review.score != 0.8', false],
    ['build.status == "success" && input.name != "Eve"', true],
    ['review.output.verdict == "go"', true],
    ['(true || false) && false', false],
    ['true || false && false', true],
  ])('WF-COND-25 %s is %s', (source, want) => {
    expect(holds(source)).toBe(want);
  });

  it.each([
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
    ['<', [false, false, true]],
    ['<=', [false, true, true]],
    ['>', [true, false, false]],
    ['>=', [true, true, false]],
  ])('WF-COND-25 a score of 0.8 %s 0.79, 0.8 and 0.81 is %j', (operator, want) => {
    expect(['0.79', '0.8', '0.81'].map((bound) => holds(`review.score ${operator} ${bound}`))).toEqual(want);
  });

  it.each([
    ['true && true', true],
    ['true && false', false],
    ['false || true', true],
    ['false || false', false],
    ['!false', true],
    ['!true', false],
  ])('WF-COND-25 %s is %s', (source, want) => expect(holds(source)).toBe(want));

  it.each([
    ['"{{trim build.output.text}}" == "ok"', true],
    ['"{{build.status}}" == "success"', true],
    ['"{{build.status}}" == "failed"', false],
    ['"{{input.quote}}" == "yes"', false],
    ['"{{input.braces}}" == "Ada"', false],
  ])('AMB-172 %s is %s: templates within quotes are rendered, and their values are data', (source, want) => {
    const quoting = createScope({
      input: { quote: 'a" == "a', braces: '{{input.name}}', name: 'Ada' },
      blackboard: { build: { status: 'success', output: { text: ' ok\n' } } },
      workflow: {},
      execution: { id: 'e-1' },
      stateNames: ['build'],
      completedStates: ['build'],
    });
    expect(evaluate(source, quoting)).toMatchObject({ kind: 'value', value: want });
  });

  it.each([
    ['input.count > 4', true],
    ['input.count == 5.0', true],
    ['input.count == "5"', true],
    ['"5" == "5.0"', true],
    ['"10" > "9"', true],
    ['build.output.stdout == 7', true],
    ['"0x10" == 16', false],
    ['"" == 0', false],
    ['"a" < "b"', false],
    ['"a" > "b"', false],
    ['true == "true"', true],
    ['true == 1', false],
    ['true > 0', false],
    ['blackboard.items == "[1]"', true],
    ['blackboard.items > 0', false],
    ['"Infinity" > 1', false],
  ])('AMB-155 compares %s: %s', (source, want) => {
    expect(holds(source)).toBe(want);
  });

  it.each([
    ['blackboard.flag', true],
    ['blackboard.off', false],
    ['blackboard.zero', false],
    ['blackboard.empty', false],
    ['blackboard.nil', false],
    ['blackboard.list', false],
    ['blackboard.object', false],
    ['blackboard.items', true],
    ['"false"', false],
    ['"0"', false],
    ['"False"', true],
    ['" "', true],
    ['-1', true],
    ['null', false],
    ['later.output', false],
    ['blackboard.nope', false],
  ])('AMB-155 takes %s for %s', (source, want) => {
    expect(holds(source)).toBe(want);
  });

  it.each([
    ['later.score > 0', false],
    ['later.score <= 0', false],
    ['later.score == 0', false],
    ['later.score == ""', false],
    ['later.score == null', true],
    ['later.score != null', false],
    ['later.score != "x"', true],
    ['later.score == blackboard.nil', true],
    ['!later.score', true],
  ])('AMB-067 a missing value: %s is %s', (source, want) => {
    expect(holds(source)).toBe(want);
  });

  it.each(['later.[a b].c', '{{later.[a b].c}}'])('AMB-156 names a missing path as it is written: %s', (path) => {
    expect(evaluate(`${path} == 1`, scope())).toMatchObject({ missing: ['later.[a b].c'] });
  });

  it('lists what was missing, each once, where it was looked at', () => {
    expect(evaluate('later.a || later.a || blackboard.x == 1', scope())).toMatchObject({
      missing: ['later.a', 'blackboard.x'],
    });
    expect(evaluate('blackboard.flag || later.a', scope())).toMatchObject({ missing: [] });
  });

  it('reaches nothing through prototypes', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'input.constructor',
      'blackboard.items.map',
      'input.name.length',
      'blackboard.toString',
    ]) {
      expect(holds(path)).toBe(false);
    }
  });

  it('asks for stored values that decide, and for no other', () => {
    expect(evaluate('blackboard.big == "x"', scope())).toEqual({ kind: 'needs', refs: ['ref-1'] });
    expect(evaluate('blackboard.off && blackboard.big', scope())).toMatchObject({ kind: 'value', value: false });
    expect(evaluate('blackboard.big.ok', scope(), new Map([['ref-1', '{"ok":true}']]))).toMatchObject({ value: true });
  });

  it('refuses an invalid expression', () => {
    expect(() => evaluate('a ==', scope())).toThrow(ExpressionError);
  });

  it('stops comparing what is too large', () => {
    const huge = Array.from({ length: workLimits.turn / prices.jsonNode }, () => 0);
    const at = scope({ blackboard: { huge } });
    expect(() => evaluate('blackboard.huge == "x"', at)).toThrow(WorkBudgetExceeded);
    expect(evaluate('blackboard.huge', at)).toMatchObject({ value: true });
  });
});

describe('the price of an expression', () => {
  const spent = (source: string, board: object): number => {
    const work = new Work();
    evaluate(source, scope({ blackboard: { ...board } }), new Map(), work);
    return workLimits.turn - work.left;
  };

  it.each([
    ['blackboard.a > 4', 'a text that may be a number', prices.character],
    ['blackboard.a == blackboard.a', 'two texts that may be numbers and are compared', 3 * prices.character],
  ])('WF-COND-25 %s grows with each character of %s', (source, _what, price) => {
    const grown = [999, 1_000, 1_001].map(
      (length) => spent(source, { a: 'x'.repeat(length) }) - spent(source, { a: '' }),
    );
    expect(grown).toEqual([999 * price, 1_000 * price, 1_001 * price]);
  });

  it('WF-COND-25 grows with each key of an object that is tested alone', () => {
    const objectOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
    const grown = [99, 100, 101].map(
      (count) => spent('blackboard.a', { a: objectOf(count) }) - spent('blackboard.a', { a: {} }),
    );
    expect(grown).toEqual([99 * prices.segment, 100 * prices.segment, 101 * prices.segment]);
  });

  it('WF-COND-25 rules over one long text share the budget of their turn', () => {
    const text = 'x'.repeat(1024 * 1024);
    const at = scope({ blackboard: { a: text } });
    const work = new Work();
    const test = () => evaluate('blackboard.a > 4', at, new Map(), work);
    const fits = Math.floor(workLimits.turn / text.length) - 1;
    for (let rule = 0; rule < fits; rule += 1) expect(test()).toMatchObject({ value: false });
    expect(test).toThrow(WorkBudgetExceeded);
  });
});
