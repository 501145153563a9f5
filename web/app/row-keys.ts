import type { KeyBinding } from './keys.ts'

/** J and K, which lead to the next and the previous row of a list. @param step by 1 or -1 */
export const rowKeys = (
  { next, previous }: { readonly next: string; readonly previous: string },
  step: (by: number) => void,
): readonly KeyBinding[] => [
  { keys: 'j', label: next, group: 'Page', run: () => step(1), sheetOnly: true, repeats: true },
  { keys: 'k', label: previous, group: 'Page', run: () => step(-1), sheetOnly: true, repeats: true },
]

/** The row that is `by` rows from the current one; without a current one the first or the last. */
export const stepFrom = <Row>(rows: readonly Row[], isCurrent: (row: Row) => boolean, by: number): Row | undefined => {
  const at = rows.findIndex(isCurrent)
  return at < 0 ? rows.at(by > 0 ? 0 : -1) : rows[at + by]
}

/** Moves the focus among the elements of a selector. */
export const focusRow = (selector: string, by: number): void =>
  stepFrom([...document.querySelectorAll<HTMLElement>(selector)], (row) => row === document.activeElement, by)?.focus()
