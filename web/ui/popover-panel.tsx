import { Popover as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import floatingStyles from './floating.module.css'
import { landmark } from './landmark.ts'
import { TriggerStandIn } from './panel-trigger.tsx'
import styles from './popover-panel.module.css'

type PopoverPanelProps = {
  id: string
  trigger: HTMLElement
  label: string
  children: ReactNode
  align: 'start' | 'end' | 'center'
  side: 'top' | 'bottom'
  className: string | undefined
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** The panel of a popover. */
export function PopoverPanel({
  id,
  trigger,
  label,
  children,
  align,
  side,
  className,
  open,
  onOpenChange,
}: PopoverPanelProps) {
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Trigger asChild>
        <TriggerStandIn element={trigger} />
      </Primitive.Trigger>
      <Primitive.Portal container={landmark()}>
        <Primitive.Content
          id={id}
          className={classNames(floatingStyles.floating, floatingStyles.rising, styles.popover, className)}
          aria-label={label}
          data-popover
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // This runs a moment after the panel has closed. A field that has the focus by then keeps it.
            if (document.activeElement !== null && document.activeElement !== document.body) event.preventDefault()
          }}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
