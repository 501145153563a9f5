import type { KeyboardEvent, ReactNode } from 'react'
import { ChartCard } from '../../ui/chart/chart-card.tsx'
import { IconButton } from '../../ui/button.tsx'
import { copyAndSay } from '../../ui/copy-button.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { healthTexts } from './texts.ts'

type ChartPanelProps = {
  title: string
  unit: string
  legend?: ReactNode
  note?: ReactNode
  noteIcon?: IconName
  table?: ReactNode
  /** Shown over the whole width; Enter on the chart switches. Absent for charts of one size. */
  large?: boolean
  onLarge?: (large: boolean) => void
  children: ReactNode
}

/** A chart of app health with its menu. */
export function ChartPanel({ large = false, onLarge, ...card }: ChartPanelProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : null
    // A position that is read takes Enter itself.
    if (event.key !== 'Enter' || event.defaultPrevented || target?.getAttribute('role') !== 'slider') return
    event.preventDefault()
    onLarge?.(!large)
  }
  return (
    <ChartCard
      {...card}
      large={large}
      {...(onLarge === undefined ? {} : { onKeyDown })}
      tools={
        <Menu
          label={healthTexts.chartMenu(card.title)}
          align="end"
          trigger={<IconButton look="ghost" size="sm" icon="more" label={healthTexts.chartMenu(card.title)} />}
          entries={[
            ...(onLarge === undefined
              ? []
              : [
                  {
                    label: large ? healthTexts.shrink : healthTexts.expand,
                    onSelect: () => onLarge(!large),
                  },
                ]),
            {
              label: healthTexts.copyLink,
              icon: 'link' as const,
              onSelect: () => void copyAndSay(location.href, healthTexts.linkCopied),
            },
          ]}
        />
      }
    />
  )
}
