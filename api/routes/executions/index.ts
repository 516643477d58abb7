export { contracts } from './contracts.ts';
