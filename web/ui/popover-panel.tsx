import { Popover as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { landmark } from './landmark.ts'
import { TriggerStandIn } from './panel-trigger.tsx'

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

/** What opens under a popover's button. */
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
          className={className === undefined ? 'popover' : `popover ${className}`}
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // It comes a moment after the panel is gone: whoever went on to a field by then stays there.
            if (document.activeElement !== null && document.activeElement !== document.body) event.preventDefault()
          }}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
