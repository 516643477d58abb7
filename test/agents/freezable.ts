import type { EventBus } from '../../lib/bus/index.ts';

/** The bus of a process that answers nothing from `freeze` to `thaw`, while the server of NATS still knows its addresses. */
export function freezable(bus: EventBus) {
  let isFrozen = false;
  const serve: EventBus['serve'] = (address, handle, options) =>
    bus.serve(address, (request) => (isFrozen ? new Promise(() => undefined) : handle(request)), options);
  const get = (target: EventBus, name: string | symbol): unknown => {
    const value: unknown = name === 'serve' ? serve : Reflect.get(target, name);
    return typeof value === 'function' ? value.bind(target) : value;
  };
  return { bus: new Proxy(bus, { get }), freeze: () => void (isFrozen = true), thaw: () => void (isFrozen = false) };
}
