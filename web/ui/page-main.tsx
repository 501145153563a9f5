import { createContext, use, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import fitStyles from './fit.module.css'
import styles from './page-main.module.css'

const Foot = createContext<HTMLElement | null>(null)

/**
 * The landmark of a page. Its content reacts to the width of the page, not of the window. Panels open in
 * the landmark beside the container, because older browsers place fixed parts by it.
 */
export function PageMain({ className, children }: { className?: string | undefined; children?: ReactNode }) {
  const [foot, setFoot] = useState<HTMLElement | null>(null)
  return (
    <main id="main" className={className} tabIndex={-1}>
      <div className={styles.container}>
        <Foot value={foot}>{children}</Foot>
      </div>
      <div className={fitStyles.contents} ref={setFoot} />
    </main>
  )
}

/** Puts a bar that is fixed to the foot of the window beside the container of the page. */
export function PageFoot({ children }: { children: ReactNode }) {
  const foot = use(Foot)
  return foot === null ? null : createPortal(children, foot)
}

/** The first stop of the Tab key: past the navigation, to the page. */
export const SkipLink = ({ children }: { children: ReactNode }) => (
  <a className={styles.skip} href="#main">
    {children}
  </a>
)
