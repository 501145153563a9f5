import { DropdownMenu } from 'radix-ui'
import { Fragment, useEffect, useRef, type KeyboardEvent } from 'react'
import { classNames } from './class-names.ts'
import fitStyles from './fit.module.css'
import floatingStyles from './floating.module.css'
import { Icon } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { landmark } from './landmark.ts'
import type { MenuEntry, MenuItem } from './menu.tsx'
import { lastInput } from './last-input.ts'
import styles from './menu-panel.module.css'
import { TriggerStandIn } from './panel-trigger.tsx'
import { Minor } from './text.tsx'
import typeStyles from './type.module.css'

type MenuPanelProps = {
  id: string
  trigger: HTMLElement
  label: string
  entries: readonly MenuEntry[]
  align: 'start' | 'end' | 'center'
  side: 'top' | 'bottom'
  open: boolean
  onOpenChange: (open: boolean) => void
}

const isItem = (entry: MenuEntry): entry is MenuItem => entry.kind === undefined || entry.kind === 'item'

/** The panel of a menu. */
export function MenuPanel({ id, trigger, label, entries, align, side, open, onOpenChange }: MenuPanelProps) {
  const chosen = useRef<MenuItem | undefined>(undefined)
  const close = useRef<HTMLDivElement>(null)

  // Letters take precedence over the library's search by typing.
  const byLetter = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const item = entries.filter(isItem).find((entry) => entry.letter?.toLowerCase() === event.key.toLowerCase())
    if (item === undefined || item.why !== undefined) return
    event.preventDefault()
    event.stopPropagation()
    const row = close.current?.querySelector<HTMLElement>(`[data-letter="${CSS.escape(event.key.toLowerCase())}"]`)
    row?.click()
  }

  // The library focuses the first item after a key press. It was not loaded yet at the key press that opened the menu.
  useEffect(() => {
    if (!open || lastInput() !== 'key') return undefined
    const frame = requestAnimationFrame(() => {
      if (close.current !== null && document.activeElement === close.current)
        close.current.querySelector<HTMLElement>('[role^="menuitem"]:not([data-disabled])')?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [open])

  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={onOpenChange}>
      <DropdownMenu.Trigger asChild>
        <TriggerStandIn element={trigger} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={landmark()}>
        <DropdownMenu.Content
          ref={close}
          id={id}
          className={classNames(floatingStyles.floating, floatingStyles.rising, styles.menu)}
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onKeyDownCapture={byLetter}
          onCloseAutoFocus={() => {
            // After the menu has closed, so that an item can move the focus.
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
  if (entry.kind === 'separator') return <DropdownMenu.Separator className={styles.separator} />
  if (entry.kind === 'heading')
    return (
      <DropdownMenu.Label className={classNames(styles.heading, typeStyles.meta)}>{entry.label}</DropdownMenu.Label>
    )
  const item = entry
  const inner = (
    <>
      {item.icon === undefined ? null : typeof item.icon === 'string' ? <Icon name={item.icon} /> : item.icon.element}
      <span className={fitStyles.ellipsis}>{item.label}</span>
      {item.note === undefined && item.letter === undefined && item.checked !== true ? null : (
        <span className={styles.end}>
          {item.note === undefined ? null : <Minor>{item.note}</Minor>}
          {item.checked === true ? <Icon name="check" /> : null}
          {item.letter === undefined ? null : <Kbd keys={item.letter} />}
        </span>
      )}
    </>
  )
  const shared = {
    className: styles.item,
    'data-danger': item.danger === true ? '' : undefined,
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
