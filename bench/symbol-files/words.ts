/** Words that names of classes and functions are made of. */

export const AREAS = [
  'cart',
  'checkout',
  'payment',
  'session',
  'profile',
  'search',
  'inventory',
  'shipping',
  'pricing',
  'messages',
  'settings',
  'catalog',
  'wishlist',
  'delivery',
  'loyalty',
  'network',
  'storage',
  'analytics',
  'camera',
  'location',
] as const
export const VERBS = [
  'load',
  'save',
  'update',
  'validate',
  'fetch',
  'render',
  'apply',
  'resolve',
  'merge',
  'dispatch',
  'bind',
  'measure',
] as const
export const THINGS = [
  'Order',
  'Customer',
  'Address',
  'Discount',
  'Invoice',
  'Basket',
  'Token',
  'Report',
  'Stock',
  'Quote',
  'Image',
  'Row',
] as const
export const KINDS = [
  'ViewModel',
  'Repository',
  'Adapter',
  'Fragment',
  'Service',
  'Mapper',
  'Controller',
  'Cache',
] as const
export const ERRORS = ['TypeError', 'RangeError', 'PaymentError', 'TimeoutError', 'ValidationError'] as const

/** A class of an app, of its number: `Cart Order ViewModel 17`. */
export function className(n: number): { readonly area: string; readonly name: string } {
  const area = AREAS[n % AREAS.length] ?? ''
  const thing = THINGS[Math.floor(n / 3) % THINGS.length] ?? ''
  const kind = KINDS[Math.floor(n / 7) % KINDS.length] ?? ''
  return { area, name: `${thing}${kind}${n}` }
}

export const functionName = (n: number): string =>
  `${VERBS[n % VERBS.length] ?? ''}${THINGS[Math.floor(n / 5) % THINGS.length] ?? ''}`
