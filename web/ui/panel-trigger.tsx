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
 * The button of a menu or popover. The library for panels is not part of the first load: it is loaded on hover or focus,
 * or when a key opens the panel.
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
  /** The trigger with its handlers. */
  button: ReactNode
  /** The trigger's element once the panel is needed; null before. */
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
  // The panel stays mounted after its first use, because closing it returns the focus.
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
          // On the press, as menus of the system do, not on the release.
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
            // While the panel loads, a key press is for the panel.
            if (!open || event.detail > 0) setOpen(!open)
          },
        }),
  })
  return { button, element: near ? element : null, open, setOpen, panelId }
}

/** Passes the existing element to the library in place of its own trigger. */
export function TriggerStandIn({ element, id, ref }: { element: HTMLElement; id?: string; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element])
  useLayoutEffect(() => {
    // The panel's label refers to it.
    if (id !== undefined && element.id === '') element.setAttribute('id', id)
  }, [element, id])
  return null
}
