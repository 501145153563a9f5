import { useEffect, useEffectEvent, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react'

/** The option after a step, wrapping around at the ends. While options load, steps are only counted. */
export function stepped(at: number, step: number, count: number | null): number {
  if (count === null) return Math.max(0, at + step)
  if (at < 0) return step < 0 ? count - 1 : 0
  return count === 0 ? 0 : (at + step + count) % count
}

/** The active option of a list whose input keeps the focus. */
export type OptionList = {
  /** −1 if there is none. */
  at: number
  setAt: (index: number) => void
  step: (by: number) => void
  listId: string
  optionId: (index: number) => string
  list: RefObject<HTMLDivElement | null>
}

/**
 * @param count of options; null while they load
 * @param first index of the option that is active at first; −1 for none
 */
export function useOptionList(count: number | null, first = 0): OptionList {
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  const [chosen, setAt] = useState(first)
  const at = Math.min(chosen, (count ?? 0) - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return {
    at,
    setAt,
    step: (by) => setAt(stepped(count === null ? chosen : at, by, count)),
    listId,
    optionId: (index) => `${listId}-${index}`,
    list,
  }
}

type ComboboxOptions<T> = {
  /** In order of the list. Null while they load: arrow keys are counted, and Enter waits. */
  options: readonly T[] | null
  onChoose: (option: T) => void
  /** The typed text. */
  text: string
  onText: (text: string) => void
}

/**
 * A text field with a list, after the ARIA combobox pattern: the field keeps the focus, arrow keys move through the
 * options, Enter chooses. Spread `input`, `list` and `option(index)` into the elements.
 */
export function useCombobox<T>({ options, onChoose, text, onText }: ComboboxOptions<T>) {
  const { at, setAt, step, listId, optionId, list } = useOptionList(options === null ? null : options.length)
  const choose = (index: number) => {
    const option = options?.[index]
    if (option !== undefined) onChoose(option)
  }
  const [isWaiting, setWaiting] = useState(false)
  const isLoaded = options !== null
  const chooseWaiting = useEffectEvent(() => choose(at))
  useEffect(() => {
    if (isWaiting && isLoaded) chooseWaiting()
  }, [isWaiting, isLoaded])

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      step(by)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      if (isLoaded) choose(at)
      else setWaiting(true)
    } else setWaiting(false)
  }

  return {
    /** The option that Enter chooses; −1 if there is none. */
    at,
    input: {
      type: 'text',
      role: 'combobox',
      'aria-expanded': true,
      'aria-controls': listId,
      'aria-autocomplete': 'list',
      'aria-activedescendant': at < 0 ? undefined : optionId(at),
      autoComplete: 'off',
      spellCheck: false,
      value: text,
      onChange: (event: { target: { value: string } }) => {
        onText(event.target.value)
        setAt(0)
      },
      onKeyDown,
    },
    list: { role: 'listbox', id: listId, 'aria-busy': !isLoaded, ref: list },
    option: (index: number) => ({
      id: optionId(index),
      role: 'option',
      'aria-selected': index === at,
      tabIndex: -1,
      onClick: () => choose(index),
      onPointerMove: () => setAt(index),
    }),
  } as const
}
