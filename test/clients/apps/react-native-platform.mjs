/** The parts of the platform that the JavaScript layer needs; components are never rendered here. */
const nothing = () => {}
const subscription = { remove: nothing }
const emitter = { addListener: () => subscription, addEventListener: () => subscription, removeListeners: nothing }
class Component {}

export const Platform = {
  OS: 'ios',
  Version: '18.0',
  constants: { reactNativeVersion: { major: 0, minor: 87, patch: 1 } },
  select: (of) => of.ios ?? of.default,
}
export const NativeModules = {}
export const TurboModuleRegistry = { get: () => null, getEnforcing: () => null }
export class NativeEventEmitter {
  addListener() {
    return subscription
  }
  removeAllListeners() {}
}
export const AppState = { currentState: 'active', isAvailable: true, ...emitter }
export const AppRegistry = { registerComponent: nothing, setWrapperComponentProvider: nothing }
export const Appearance = { getColorScheme: () => 'light', ...emitter }
export const Dimensions = { get: () => ({ width: 390, height: 844 }) }
export const Keyboard = emitter
export const Alert = { alert: nothing }
export const LogBox = { ignoreLogs: nothing }
export const UIManager = { getViewManagerConfig: () => null, hasViewManagerConfig: () => false }
export const StyleSheet = { create: (styles) => styles }
export const Animated = { Value: Component, View: Component, timing: () => ({ start: nothing }) }
export const Easing = { in: nothing, out: nothing, inOut: nothing, quad: nothing }
export const PanResponder = { create: () => ({ panHandlers: {} }) }
export const codegenNativeComponent = () => Component
export const useColorScheme = () => 'light'
export {
  Component as Image,
  Component as Modal,
  Component as Pressable,
  Component as ScrollView,
  Component as Text,
  Component as TextInput,
  Component as TouchableOpacity,
  Component as TouchableWithoutFeedback,
  Component as View,
}
export default {}
