import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './icon.module.css'

/** Shapes on a 16 × 16 grid, stroked in the text colour. */
const shapes = {
  ask: (
    <path d="M2.5 4a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v6.2a1 1 0 0 1-1 1H7.4L4.5 13.6v-2.4h-1a1 1 0 0 1-1-1zM5.5 6h5M5.5 8.3h3" />
  ),
  bad: (
    <path d="M11 8.8 8.6 13.4c-.9 0-1.5-.7-1.4-1.6l.2-2.2H3.8c-.8 0-1.3-.7-1.1-1.5l.9-4C3.8 3.4 4.3 3 5 3h6zM11 8.8h2.2V3H11" />
  ),
  battery: <path d="M1.8 5.2h10.6v5.6H1.8zM14.2 7v2M3.6 7v2" />,
  bell: (
    <path d="M8 2.2a3.8 3.8 0 0 1 3.8 3.8v2.6l1.3 2.2H2.9l1.3-2.2V6A3.8 3.8 0 0 1 8 2.2zM6.6 13.2a1.5 1.5 0 0 0 2.8 0" />
  ),
  bolt: <path d="M8.8 1.8 3.6 9h3.8l-.6 5.2L12.2 7H8.3z" />,
  book: (
    <path d="M3 3h4a1.4 1.4 0 0 1 1 .6A1.4 1.4 0 0 1 9 3h4v9.4H9.2a1.6 1.6 0 0 0-1.2.8 1.6 1.6 0 0 0-1.2-.8H3zM8 3.8v9" />
  ),
  chat: <path d="M2.5 3.2h11v7.6H8L5 13.4v-2.6H2.5z" />,
  check: <path d="M3.5 8.4 6.6 11.5l6-7" />,
  clock: <path d="M8 13.6A5.6 5.6 0 1 0 8 2.4a5.6 5.6 0 0 0 0 11.2zM8 5v3.2l2.1 1.4" />,
  code: <path d="M5.6 4.6 2.4 8l3.2 3.4M10.4 4.6 13.6 8l-3.2 3.4" />,
  commit: <path d="M8 10.4a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM1.8 8h3.8M10.4 8h3.8" />,
  copy: <path d="M5.8 5.8h7v7h-7zM10.2 5.8V3.2h-7v7h2.6" />,
  cpu: (
    <path d="M4.3 4.3h7.4v7.4H4.3zM6.6 6.6h2.8v2.8H6.6zM6 2v2.3M10 2v2.3M6 11.7V14M10 11.7V14M2 6h2.3M2 10h2.3M11.7 6H14M11.7 10H14" />
  ),
  down: <path d="M4.5 6.5 8 10l3.5-3.5" />,
  download: <path d="M8 2.6v7.6M4.8 7.2 8 10.4l3.2-3.2M3 13.2h10" />,
  eye: (
    <path d="M1.6 8S4 3.8 8 3.8 14.4 8 14.4 8 12 12.2 8 12.2 1.6 8 1.6 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z" />
  ),
  filter: <path d="M2.5 4.2h11M4.6 8h6.8M6.7 11.8h2.6" />,
  gauge: <path d="M3.3 12.2a6 6 0 1 1 9.4 0M8 9.2l2.6-3.4" />,
  good: (
    <path d="M5 7.2 7.4 2.6c.9 0 1.5.7 1.4 1.6L8.6 6.4h3.6c.8 0 1.3.7 1.1 1.5l-.9 4c-.2.7-.7 1.1-1.4 1.1H5zM5 7.2H2.8v5.8H5" />
  ),
  hook: (
    <path d="M6.4 4.6a2.4 2.4 0 1 1 3.6 2l1.6 2.9M9.6 12.2a2.4 2.4 0 1 0 2-3.4c-.4 0-.8.1-1.1.3M7.6 11.4H4.9M8.2 5.2 6.3 9M4.9 11.4a2.1 2.1 0 1 1-1.4-3.1" />
  ),
  info: <path d="M8 13.6A5.6 5.6 0 1 0 8 2.4a5.6 5.6 0 0 0 0 11.2zM8 7.4v3.4M8 5.2h.01" />,
  issues: (
    <>
      <path d="M3 4.5h10M3 8h10M3 11.5h6" />
      <path d="M11.2 13.2l1.3-1.7 1.3 1.7" />
    </>
  ),
  key: <path d="M5.6 10.4a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.4 8.2l5-.1v2.3M11.2 8.2v1.7" />,
  left: <path d="M9.5 4.5 6 8l3.5 3.5" />,
  link: (
    <path d="M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2.2-2.2A2.4 2.4 0 0 0 9 3.6l-.7.7M9.2 6.8a2.4 2.4 0 0 0-3.4 0L3.6 9A2.4 2.4 0 0 0 7 12.4l.7-.7" />
  ),
  lock: <path d="M4 7.2h8v6H4zM5.6 7.2V5a2.4 2.4 0 0 1 4.8 0v2.2" />,
  logs: <path d="M3 3.5h.01M3 6.5h.01M3 9.5h.01M3 12.5h.01M6 3.5h7.5M6 6.5h5M6 9.5h7M6 12.5h4" />,
  mail: <path d="M2.2 3.8h11.6v8.4H2.2zM2.4 4.2 8 8.8l5.6-4.6" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  merge: (
    <path d="M4.5 5.4a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM4.5 13.8a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM11.5 9.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM4.5 5.4v5.2M4.6 5.4c.3 1.8 1.8 2.6 5.3 2.6" />
  ),
  metrics: <path d="M2.5 13.5h11M4.5 11V8.5M8 11V4M11.5 11V6.5" />,
  minus: <path d="M3.2 8h9.6" />,
  more: <path d="M3.6 8h.01M8 8h.01M12.4 8h.01" strokeWidth="2" />,
  nav: <path d="M2.6 7.4 13.2 2.8 8.6 13.4 7.2 8.8z" />,
  network: <path d="M2 6.4a8.6 8.6 0 0 1 12 0M4.2 8.8a5.4 5.4 0 0 1 7.6 0M6.4 11.1a2.3 2.3 0 0 1 3.2 0M8 13.1h.01" />,
  org: <path d="M3.5 13.5v-10h6v10M9.5 6.5h3v7M2 13.5h12M5.7 6h1.6M5.7 8.5h1.6M5.7 11h1.6" />,
  overview: <path d="M2.5 2.5h4.6v6H2.5zM8.9 2.5h4.6v3.2H8.9zM8.9 7.5h4.6v6H8.9zM2.5 10.3h4.6v3.2H2.5z" />,
  pager: <path d="M2.2 4.4h11.6v7.2H2.2zM4.4 6.6h4.4v2.6H4.4zM11 6.8h.01M11 9.2h.01" />,
  passkey: (
    <path d="M6.2 7.6a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM1.8 13c.3-2.2 1.9-3.4 4.3-3.4.8 0 1.5.1 2.1.4M12 9.4a1.9 1.9 0 1 0-1-3.5 1.9 1.9 0 0 0 1 3.5zM12 9.4v4.2M12 11.2h1.4" />
  ),
  pause: <path d="M5.6 3.6v8.8M10.4 3.6v8.8" strokeWidth="2" />,
  pencil: <path d="M3 13l.6-2.9 7.2-7.2 2.3 2.3-7.2 7.2zM9.4 4.3l2.3 2.3" />,
  phone: <path d="M4.8 1.8h6.4c.3 0 .6.3.6.6v11.2c0 .3-.3.6-.6.6H4.8a.6.6 0 0 1-.6-.6V2.4c0-.3.3-.6.6-.6zM7 12.2h2" />,
  plus: <path d="M8 3.2v9.6M3.2 8h9.6" />,
  project: <path d="M8 2.2 13.2 5v6L8 13.8 2.8 11V5zM2.9 5.1 8 8l5.1-2.9M8 8v5.7" />,
  pulse: <path d="M1.8 8.4h2.7l1.7-4.6 3 8.6 1.8-4h3.2" />,
  query: <path d="M2.5 3.5h11v9h-11zM2.5 6.5h11M6.3 6.5v6" />,
  right: <path d="M6.5 4.5 10 8l-3.5 3.5" />,
  rotate: <path d="M13 6.4A5.3 5.3 0 0 0 3.4 5.2M3 9.6a5.3 5.3 0 0 0 9.6 1.2M3.2 2.6v2.8H6M12.8 13.4v-2.8H10" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1" />,
  send: <path d="M8 13V3.4M3.8 7.4 8 3.2l4.2 4.2" />,
  shield: <path d="M8 1.9 13 3.7v4c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4v-4z" />,
  sort: <path d="M4.8 3v10M2.6 10.7 4.8 13 7 10.7M11.2 13V3M9 5.3 11.2 3l2.2 2.3" />,
  spark: <path d="M8 2.2 9.4 6.6 13.8 8 9.4 9.4 8 13.8 6.6 9.4 2.2 8l4.4-1.4z" />,
  'st-escalated': <path d="M3.6 8.2 8 3.8l4.4 4.4M3.6 12.6 8 8.2l4.4 4.4" strokeWidth="1.7" />,
  'st-ignored': (
    <>
      <circle cx="8" cy="8" r="5" strokeWidth="1.7" />
      <path d="M4.7 11.3l6.6-6.6" strokeWidth="1.7" />
    </>
  ),
  'st-regressed': <path d="M3.3 6.3h6a3.4 3.4 0 0 1 0 6.8H6.2M5.9 3.2 2.8 6.3l3.1 3.1" strokeWidth="1.7" />,
  'st-resolved': (
    <>
      <circle cx="8" cy="8" r="5.9" fill="currentColor" stroke="none" />
      <path d="M5.4 8.2 7.2 10l3.4-3.8" style={{ stroke: 'var(--surface)' }} strokeWidth="1.6" />
    </>
  ),
  'st-unresolved': <circle cx="8" cy="8" r="5" strokeWidth="1.7" />,
  state: <path d="M3 5.5h7.5M8.3 3.2l2.4 2.3-2.4 2.3M13 10.5H5.5M7.7 8.2 5.3 10.5l2.4 2.3" />,
  stop: <rect x="4.2" y="4.2" width="7.6" height="7.6" rx="1.2" fill="currentColor" stroke="none" />,
  sun: (
    <path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.4v1.4M8 13.2v1.4M1.4 8h1.4M13.2 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M3.3 12.7l1-1M11.7 4.3l1-1" />
  ),
  'sv-critical': (
    <>
      <path d="M5.2 1.8h5.6l3.4 3.4v5.6l-3.4 3.4H5.2l-3.4-3.4V5.2z" fill="currentColor" stroke="none" />
      <path d="M8 4.6v4M8 11h.01" style={{ stroke: 'var(--surface)' }} strokeWidth="1.8" />
    </>
  ),
  'sv-high': (
    <g stroke="none" fill="currentColor">
      <rect x="2.2" y="9.2" width="3" height="4.6" rx=".8" />
      <rect x="6.5" y="5.8" width="3" height="8" rx=".8" />
      <rect x="10.8" y="2.2" width="3" height="11.6" rx=".8" />
    </g>
  ),
  'sv-low': (
    <g stroke="none" fill="currentColor">
      <rect x="2.2" y="9.2" width="3" height="4.6" rx=".8" />
      <rect x="6.5" y="5.8" width="3" height="8" rx=".8" opacity=".28" />
      <rect x="10.8" y="2.2" width="3" height="11.6" rx=".8" opacity=".28" />
    </g>
  ),
  'sv-medium': (
    <g stroke="none" fill="currentColor">
      <rect x="2.2" y="9.2" width="3" height="4.6" rx=".8" />
      <rect x="6.5" y="5.8" width="3" height="8" rx=".8" />
      <rect x="10.8" y="2.2" width="3" height="11.6" rx=".8" opacity=".28" />
    </g>
  ),
  symbols: (
    <path d="M9.2 2H4.5a1 1 0 0 0-1 1v10a1 1 0 0 0 1 1h7a1 1 0 0 0 1-1V5.3zM9 2v3.5h3.5M6.8 8.2 5.5 9.7l1.3 1.5M9.2 8.2l1.3 1.5-1.3 1.5" />
  ),
  tag: <path d="M2.6 7.3V3.1c0-.3.2-.5.5-.5h4.2l6 6-4.7 4.7zM5.4 5.4h.01" />,
  tap: (
    <path d="M6.4 8.6V3.8a1.2 1.2 0 0 1 2.4 0v3.4l3.2.7c.7.2 1.1.7 1 1.4l-.5 2.6c-.2 1-1 1.7-2 1.7H8.3c-.6 0-1.1-.3-1.5-.8L4.2 9.4c-.5-.8.5-1.7 1.2-1.1z" />
  ),
  ticket: (
    <path d="M2.5 4.2h11v2.3a1.5 1.5 0 0 0 0 3v2.3h-11V9.5a1.5 1.5 0 0 0 0-3zM9.5 4.4v1.4M9.5 7.3v1.4M9.5 10.2v1.4" />
  ),
  trace: <path d="M2.4 4h5.8M5 8h5.6M7.8 12h5.8" strokeWidth="2" />,
  trash: <path d="M2.8 4.4h10.4M6.2 4.2V2.6h3.6v1.6M4.2 4.6l.6 8.8h6.4l.6-8.8M6.8 7v4M9.2 7v4" />,
  upload: <path d="M8 10.4V2.8M4.8 5.8 8 2.6l3.2 3.2M3 13.2h10" />,
  up: <path d="M4.5 9.5 8 6l3.5 3.5" />,
  updown: <path d="M5.2 6.2 8 3.4l2.8 2.8M5.2 9.8 8 12.6l2.8-2.8" />,
  user: <path d="M8 8.2a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM2.8 13.6c.6-2.3 2.6-3.5 5.2-3.5s4.6 1.2 5.2 3.5" />,
  users: (
    <path d="M6.2 7.8a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM1.9 13c.4-2.1 2-3.2 4.3-3.2s3.9 1.1 4.3 3.2M10.6 3.2a2.4 2.4 0 0 1 0 4.4M12 9.9c1.2.5 1.9 1.5 2.2 3.1" />
  ),
  warn: <path d="M8 2.6 14 13H2zM8 6.4v3.2M8 11.3h.01" />,
  x: <path d="M4.3 4.3l7.4 7.4M11.7 4.3l-7.4 7.4" />,
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof shapes

/** All shapes, hidden; `Icon` refers to them. Rendered once by the root. */
export function Sprite() {
  return (
    <svg className={styles.sprite} aria-hidden="true">
      <defs>
        {Object.entries(shapes).map(([name, shape]) => (
          <symbol
            key={name}
            id={`i-${name}`}
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.4"
            strokeLinecap="round"
            strokeLinejoin="round"
          >
            {shape}
          </symbol>
        ))}
      </defs>
    </svg>
  )
}

type IconProps = {
  name: IconName
  className?: string | undefined
  /** Accessible name; without it the icon is hidden from screen readers. */
  label?: string
}

export function Icon({ name, className, label }: IconProps) {
  const spoken =
    label === undefined ? ({ 'aria-hidden': true } as const) : ({ role: 'img', 'aria-label': label } as const)
  return (
    <svg className={classNames(styles.icon, className)} viewBox="0 0 16 16" {...spoken}>
      <use href={`#i-${name}`} />
    </svg>
  )
}
