import type { Category } from '../../server/events/protocol/categories.ts'
import { go, java, node, python, reactNative, rust, type Ready } from './toolchains.ts'

export type ClientApp = {
  /** Its name in the table of docs/compatibility.md. */
  readonly name: string
  prepare(): Ready | Promise<Ready>
  /** Categories that must have accepted items after one run. */
  readonly sends: readonly Category[]
  /** The issue of its crash; null for an SDK without a crash here. */
  readonly crash: { readonly title: string; readonly level: string; readonly is_unhandled: boolean } | null
}

const MODERN: readonly Category[] = ['error', 'session', 'feedback', 'attachment', 'monitor']

/** Every published SDK that runs as a separate process; those of the browser are in browser.clients.ts. */
export const CLIENTS: readonly ClientApp[] = [
  {
    name: '@sentry/node 8.55.0',
    prepare: () => node('sentry-node-8'),
    sends: [...MODERN, 'transaction'],
    crash: { title: 'RangeError: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: '@sentry/node 9.46.0',
    prepare: () => node('sentry-node-9'),
    sends: [...MODERN, 'transaction', 'log_item'],
    crash: { title: 'RangeError: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: '@sentry/node 10.78.0',
    prepare: () => node('sentry-node-10'),
    sends: [...MODERN, 'transaction', 'log_item', 'trace_metric'],
    crash: { title: 'RangeError: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: '@sentry/node 11.11.0',
    prepare: () => node('sentry-node-11'),
    sends: [...MODERN, 'span', 'log_item', 'trace_metric'],
    crash: { title: 'RangeError: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: '@sentry/react-native 8.28.0 (JavaScript layer)',
    prepare: reactNative,
    sends: ['error', 'feedback', 'transaction'],
    crash: null,
  },
  {
    name: 'sentry-sdk 2.68.0 (Python)',
    prepare: python,
    sends: ['error', 'session', 'monitor'],
    crash: { title: 'RuntimeError: the pool is exhausted', level: 'error', is_unhandled: true },
  },
  {
    name: 'sentry-go 0.36.0',
    prepare: go,
    sends: ['error', 'transaction', 'attachment', 'monitor', 'log_item'],
    // A recovered panic: the SDK marks it fatal and does not say whether it was handled, so it counts as unhandled.
    crash: { title: 'the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: 'sentry-java 8.27.0',
    prepare: java,
    sends: ['error', 'session', 'transaction', 'attachment', 'monitor', 'feedback', 'log_item'],
    crash: { title: 'IllegalArgumentException: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
  {
    name: 'sentry 0.46.0 (Rust)',
    prepare: rust,
    sends: ['error', 'session', 'transaction', 'attachment'],
    crash: { title: 'panic: the pool is exhausted', level: 'fatal', is_unhandled: true },
  },
]
