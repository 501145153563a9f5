import { useMutation, useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { addToast } from '../ui/toasts.tsx'
import { apiTexts } from './texts.ts'
import { labelled, type Labels } from './field-errors.ts'
import { ApiError, PasskeyUnused } from './call.ts'

/** An optimistic change: shown immediately, reverted after an error response. */
export type Change<Input, Answer> = {
  send: (input: Input) => Promise<Answer>
  /** Identifies an input. The same input is ignored while it is being sent, such as after a double click. */
  same?: (input: Input) => string
  /** The queries that the change affects: saved before it, refetched after it. */
  touches: (input: Input) => readonly QueryKey[]
  /** Writes the expected result into the cache. */
  guess?: (client: QueryClient, input: Input) => void
  /** Reverts the guess. By default all affected queries get their saved data back. */
  restore?: (client: QueryClient, remembered: Memory, input: Input) => void
  /** Writes the server's response into the cache. */
  settle?: (client: QueryClient, answer: Answer, input: Input) => void
  /** Text of the toast; absent if the page itself shows the result. */
  said?: (answer: Answer, input: Input) => string
  /** The call that undoes the change; the toast then offers Undo (`Z`). */
  undo?: (input: Input, answer: Answer, client: QueryClient) => Promise<unknown>
  /** Start of the error toast: "Could not resolve." Null if the page itself shows the error. */
  failed: string | null
}

export type Memory = readonly (readonly [QueryKey, unknown])[]

const remember = (client: QueryClient, keys: readonly QueryKey[]): Memory =>
  keys.flatMap((queryKey) => client.getQueriesData({ queryKey }))

function restoreAll(client: QueryClient, memory: Memory): void {
  for (const [key, data] of memory) client.setQueryData(key, data)
}

/** Takes an entry out of a cached list. */
export const takeOut = (client: QueryClient, key: QueryKey, id: string): void =>
  void client.setQueryData<{ items: readonly { id: string }[] }>(key, (list) =>
    list === undefined ? list : { ...list, items: list.items.filter((one) => one.id !== id) },
  )

const readAgain = (client: QueryClient, keys: readonly QueryKey[]): Promise<unknown> =>
  Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))

/**
 * The error as a sentence: the server's message, or a general one.
 * @param labels of the fields of a form, by their names in the API
 */
export const errorSentence = (error: unknown, labels: Labels = {}): string =>
  error instanceof ApiError || error instanceof PasskeyUnused ? labelled(error.message, labels) : apiTexts.unexpected

/**
 * The only mutation hook. `mutate(input)` writes the guess, sends the change and shows a toast with Undo. An error
 * reverts the guess and shows the reason.
 */
export function useChange<Input, Answer>(change: Change<Input, Answer>) {
  const client = useQueryClient()
  const sending = useRef<string | undefined>(undefined)
  const restore = (memory: Memory, input: Input) =>
    change.restore === undefined ? restoreAll(client, memory) : change.restore(client, memory, input)
  const mutation = useMutation<Answer, Error, Input, Memory>({
    mutationFn: change.send,
    onMutate: async (input) => {
      const keys = change.touches(input)
      // A running query would overwrite the guess with older data.
      if (change.guess !== undefined) await Promise.all(keys.map((queryKey) => client.cancelQueries({ queryKey })))
      const memory = remember(client, keys)
      change.guess?.(client, input)
      return memory
    },
    onError: (error, input, memory) => {
      if (memory !== undefined) restore(memory, input)
      if (change.failed !== null) addToast({ text: `${change.failed} ${errorSentence(error)}`, tone: 'bad' })
    },
    onSuccess: (answer, input, memory) => {
      change.settle?.(client, answer, input)
      if (change.said === undefined) return
      const { undo } = change
      const takeBack = async () => {
        restore(memory, input)
        try {
          await undo?.(input, answer, client)
        } catch (error) {
          // The change is still in effect.
          change.guess?.(client, input)
          addToast({ text: `${apiTexts.notUndone} ${errorSentence(error)}`, tone: 'bad' })
        }
        await readAgain(client, change.touches(input))
      }
      addToast({
        text: change.said(answer, input),
        tone: 'good',
        ...(undo === undefined ? {} : { action: { label: apiTexts.undo, keys: 'z', run: () => void takeBack() } }),
      })
    },
    onSettled: (_answer, _error, input) => {
      if (sending.current === change.same?.(input)) sending.current = undefined
      return readAgain(client, change.touches(input))
    },
  })
  const mutate: typeof mutation.mutate = (...args) => {
    const key = args[0] === undefined ? undefined : change.same?.(args[0])
    if (key !== undefined && sending.current === key) return
    sending.current = key
    mutation.mutate(...args)
  }
  return { ...mutation, mutate }
}
