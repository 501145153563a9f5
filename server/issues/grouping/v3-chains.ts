import type { Event } from '../../events/protocol/event.api.ts'
import { causesFirst } from '../../events/protocol/telling-v3.ts'

/**
 * Chains and groups of exceptions for grouping version 3. Frozen with `v3.ts`: never changed once issues depend on it.
 */

type Exception = Event['exceptions'][number]

/**
 * Every way from an error that users see to where it began, oldest first: one, but for groups of exceptions. Exceptions
 * that were thrown on the way (suppressed ones) caused nothing, and a group is no error of its own unless nothing else
 * is there.
 */
export function findChains(exceptions: readonly Exception[]): Exception[][] {
  const wanted = withoutAsides(exceptions)
  if (!wanted.some(isGroup)) return [[...causesFirst(wanted)]]
  const parents = new Map<Exception, Exception>()
  const byId = new Map(wanted.map((exception) => [exception.mechanism?.exception_id ?? null, exception]))
  for (const exception of wanted) {
    const parentId = exception.mechanism?.parent_id ?? null
    const parent = parentId === null ? undefined : byId.get(parentId)
    if (parent !== undefined && parent !== exception) parents.set(exception, parent)
  }
  const inner = new Set(parents.values())
  const chains = wanted
    .filter((exception) => !inner.has(exception))
    .map((exception) => {
      const chain: Exception[] = []
      let at: Exception | undefined = exception
      for (; at !== undefined && chain.length < wanted.length; at = parents.get(at)) chain.push(at)
      const errors = chain.filter((one) => !isGroup(one))
      return errors.length === 0 ? chain : errors
    })
  // Ids that contradict each other lead nowhere.
  return chains.length === 0 ? [[...wanted]] : chains
}

export const isGroup = ({ mechanism }: Exception): boolean => mechanism?.is_exception_group === true

/** Thrown on the way, or where React stood when it happened: neither caused anything. */
const isAside = ({ type, mechanism }: Exception): boolean =>
  mechanism?.type === 'suppressed' || (type !== null && type.startsWith('React ErrorBoundary '))

/** All of them where nothing else is left. */
function withoutAsides(exceptions: readonly Exception[]): readonly Exception[] {
  if (!exceptions.some(isAside)) return exceptions
  const dropped = new Set<number>()
  // The cause of a suppressed exception goes with it, and stands before it.
  const kept = exceptions.toReversed().filter((exception) => {
    const { mechanism } = exception
    const isDropped = isAside(exception) || (mechanism?.parent_id != null && dropped.has(mechanism.parent_id))
    if (isDropped && mechanism?.exception_id != null) dropped.add(mechanism.exception_id)
    return !isDropped
  })
  return kept.length === 0 ? exceptions : kept.toReversed()
}
