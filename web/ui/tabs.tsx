import { Tabs as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'

type TabsProps<T extends string> = {
  label: string
  value: T
  tabs: readonly {
    readonly value: T
    readonly label: string
    readonly before?: ReactNode
    readonly after?: ReactNode
  }[]
  onChange: (value: T) => void
  /** Up and down move between them, instead of left and right. */
  vertical?: boolean
  /** How the row of tabs looks. */
  className: string | undefined
  /** The content of the selected tab. */
  children: ReactNode
}

/** Tabs with their content below; arrow keys move between them. */
export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onChange,
  vertical = false,
  className,
  children,
}: TabsProps<T>) {
  const change = (next: string) => {
    const tab = tabs.find((candidate) => candidate.value === next)
    if (tab !== undefined) onChange(tab.value)
  }
  return (
    <Primitive.Root value={value} onValueChange={change} orientation={vertical ? 'vertical' : 'horizontal'}>
      <Primitive.List className={className} aria-label={label}>
        {tabs.map((tab) => (
          <Primitive.Trigger key={tab.value} value={tab.value}>
            {tab.before}
            {tab.label}
            {tab.after}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map((tab) => (
        <Primitive.Content key={tab.value} value={tab.value} tabIndex={-1}>
          {tab.value === value ? children : null}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  )
}
