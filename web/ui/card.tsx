import { useId, type ComponentProps, type ElementType, type ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './card.module.css'

type CardElement = 'section' | 'form' | 'div' | 'dl' | 'details' | 'figure'

type CardProps<E extends CardElement> = Omit<ComponentProps<E>, 'title'> & {
  as?: E
  /** Heading in the card's header; the card is named after it. */
  title?: ReactNode
  /** Id of the heading, which then can take the focus. */
  titleId?: string
  /** After the heading, in the header: a remark, buttons. */
  header?: ReactNode
}

/** A framed part of a page with an optional header: a list, a table, a form, a few facts. */
export function Card<E extends CardElement = 'section'>({
  as,
  title,
  titleId,
  header,
  className,
  children,
  ...rest
}: CardProps<E>) {
  const Element = (as ?? 'section') as ElementType
  const ownId = useId()
  const id = titleId ?? ownId
  const hasHeader = title !== undefined
  return (
    <Element aria-labelledby={hasHeader ? id : undefined} {...rest} className={classNames(styles.card, className)}>
      {hasHeader ? (
        <CardHeader>
          <h2 id={id} tabIndex={titleId === undefined ? undefined : -1}>
            {title}
          </h2>
          {header}
        </CardHeader>
      ) : null}
      {children}
    </Element>
  )
}

/** The header of a card, and of a dialog that looks like one. */
export const CardHeader = ({
  as: Element = 'header',
  children,
}: {
  as?: 'header' | 'figcaption'
  children: ReactNode
}) => <Element className={styles.header}>{children}</Element>

type CardFooterProps = {
  /** A sentence about the content of the card, before the rest. */
  note?: ReactNode
  children?: ReactNode
}

/** The foot of a card: a note, then links or buttons. */
export const CardFooter = ({ note, children }: CardFooterProps) => (
  <footer className={styles.footer}>
    <span className={styles.note}>{note}</span>
    {children}
  </footer>
)
