import {
  cloneElement,
  isValidElement,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useState,
  type AriaAttributes,
  type FocusEventHandler,
  type KeyboardEvent,
  type KeyboardEventHandler,
  type MouseEvent,
  type MouseEventHandler,
  type PointerEvent,
  type PointerEventHandler,
  type ReactNode,
  type Ref,
} from 'react'

/**
 * The button of a menu or popover. It is on the page at once; the library that places panels is not part of the first
 * load and comes when the pointer or the focus comes near, or when the panel is opened by a key.
 */

type TriggerProps = AriaAttributes & {
  ref?: Ref<HTMLElement>
  'data-state'?: 'open' | 'closed'
  onPointerEnter?: PointerEventHandler
  onPointerDown?: PointerEventHandler
  onFocus?: FocusEventHandler
  onKeyDown?: KeyboardEventHandler
  onClick?: MouseEventHandler
}

export type PanelTrigger = {
  /** The trigger with its handlers, to be drawn where it stands. */
  button: ReactNode
  /** Its element, once the panel is wanted; null before. */
  element: HTMLElement | null
  open: boolean
  setOpen: (open: boolean) => void
  panelId: string
}

type PanelTriggerOptions = {
  kind: 'menu' | 'dialog'
  open: boolean | undefined
  onOpenChange: ((open: boolean) => void) | undefined
}

export function usePanelTrigger(
  trigger: ReactNode,
  { kind, open: given, onOpenChange }: PanelTriggerOptions,
): PanelTrigger {
  const [ownOpen, setOwnOpen] = useState(false)
  const [near, setNear] = useState(false)
  const [element, setElement] = useState<HTMLElement | null>(null)
  const panelId = useId()
  const open = given ?? ownOpen
  const setOpen = onOpenChange ?? setOwnOpen
  // Once wanted it stays: what closes has to give the focus back.
  if (open && !near) setNear(true)

  if (!isValidElement<TriggerProps>(trigger)) return { button: trigger, element: null, open, setOpen, panelId }
  const own = trigger.props
  const comesNear = () => setNear(true)
  const button = cloneElement(trigger, {
    ref: setElement,
    'aria-haspopup': kind,
    'aria-expanded': open,
    'aria-controls': open ? panelId : undefined,
    'data-state': open ? 'open' : 'closed',
    onPointerEnter: comesNear,
    onFocus: comesNear,
    ...(kind === 'menu'
      ? {
          // As menus of the system do: on the press, not on the release.
          onPointerDown: (event: PointerEvent) => {
            own.onPointerDown?.(event)
            if (event.button !== 0 || event.ctrlKey) return
            setOpen(!open)
            // The panel takes the focus.
            if (!open) event.preventDefault()
          },
          onKeyDown: (event: KeyboardEvent) => {
            own.onKeyDown?.(event)
            if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return
            setOpen(event.key === 'ArrowDown' ? true : !open)
            event.preventDefault()
          },
        }
      : {
          onClick: (event: MouseEvent) => {
            own.onClick?.(event)
            // A press by key while the panel is on its way is meant for the panel.
            if (!open || event.detail > 0) setOpen(!open)
          },
        }),
  })
  return { button, element: near ? element : null, open, setOpen, panelId }
}

/** Stands where the library wants its own trigger, and hands it the element that is on the page. */
export function TriggerStandIn({ element, id, ref }: { element: HTMLElement; id?: string; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element])
  useLayoutEffect(() => {
    // What the panel is named after.
    if (id !== undefined && element.id === '') element.setAttribute('id', id)
  }, [element, id])
  return null
}
