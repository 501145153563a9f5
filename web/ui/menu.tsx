import { DropdownMenu } from 'radix-ui'
import { Fragment, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { landmark } from './landmark.ts'

export type MenuEntry = { kind: 'heading'; label: string } | { kind: 'separator' } | MenuItem

export type MenuItem = {
  kind?: 'item'
  /** Unique in its menu. */
  label: string
  /** A name of the icon set, or a tile or avatar. */
  icon?: IconName | { element: ReactNode } | undefined
  /** One letter or digit that chooses the item while the menu is open. */
  letter?: string
  /** A quiet word at the end. */
  note?: string | undefined
  checked?: boolean
  /** Why it cannot be chosen now. */
  why?: string | undefined
  danger?: boolean
  onSelect: () => void
}

type MenuProps = {
  /** A `Button` or another element that takes a ref and props. */
  trigger: ReactNode
  label: string
  entries: readonly MenuEntry[]
  align?: 'start' | 'end' | 'center'
  side?: 'top' | 'bottom'
  open?: boolean | undefined
  onOpenChange?: (open: boolean) => void
}

const isItem = (entry: MenuEntry): entry is MenuItem => entry.kind === undefined || entry.kind === 'item'

/**
 * A menu under a button: arrows, typing and the letter of each item choose, Escape closes and gives focus back.
 * Not modal: the page behind keeps scrolling, and no style element is injected (the content policy forbids them).
 */
export function Menu({ trigger, label, entries, align = 'start', side = 'bottom', open, onOpenChange }: MenuProps) {
  const [ownOpen, setOwnOpen] = useState(false)
  const chosen = useRef<MenuItem | undefined>(undefined)
  const close = useRef<HTMLDivElement>(null)

  // Letters go before the primitive's own typing search.
  const byLetter = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const item = entries.filter(isItem).find((entry) => entry.letter?.toLowerCase() === event.key.toLowerCase())
    if (item === undefined || item.why !== undefined) return
    event.preventDefault()
    event.stopPropagation()
    const row = close.current?.querySelector<HTMLElement>(`[data-letter="${CSS.escape(event.key.toLowerCase())}"]`)
    row?.click()
  }

  return (
    <DropdownMenu.Root modal={false} open={open ?? ownOpen} onOpenChange={onOpenChange ?? setOwnOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={landmark()}>
        <DropdownMenu.Content
          ref={close}
          className="menu"
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onKeyDownCapture={byLetter}
          onCloseAutoFocus={() => {
            // After the menu is gone, so that what an item opens can take the focus.
            const item = chosen.current
            chosen.current = undefined
            item?.onSelect()
          }}
        >
          {entries.map((entry, index) => (
            <Fragment key={isItem(entry) ? entry.label : `${entry.kind ?? 'item'}-${index}`}>
              <MenuRow entry={entry} onChoose={(item) => (chosen.current = item)} />
            </Fragment>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function MenuRow({ entry, onChoose }: { entry: MenuEntry; onChoose: (item: MenuItem) => void }) {
  if (entry.kind === 'separator') return <DropdownMenu.Separator className="sep" />
  if (entry.kind === 'heading') return <DropdownMenu.Label className="h">{entry.label}</DropdownMenu.Label>
  const item = entry
  const inner = (
    <>
      {item.icon === undefined ? null : typeof item.icon === 'string' ? <Icon name={item.icon} /> : item.icon.element}
      <span className="mi-l">{item.label}</span>
      {item.note === undefined && item.letter === undefined && item.checked !== true ? null : (
        <span className="mi-e">
          {item.note === undefined ? null : <span className="sub">{item.note}</span>}
          {item.checked === true ? <Icon name="check" /> : null}
          {item.letter === undefined ? null : <Kbd keys={item.letter} />}
        </span>
      )}
    </>
  )
  const shared = {
    className: item.danger === true ? 'danger' : undefined,
    disabled: item.why !== undefined,
    title: item.why,
    textValue: item.label,
    'data-letter': item.letter?.toLowerCase(),
    onSelect: () => onChoose(item),
  }
  if (item.checked === undefined) return <DropdownMenu.Item {...shared}>{inner}</DropdownMenu.Item>
  return (
    <DropdownMenu.CheckboxItem {...shared} checked={item.checked}>
      {inner}
    </DropdownMenu.CheckboxItem>
  )
}
