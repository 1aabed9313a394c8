"""A file that torch.save of PyTorch 2.13.0 wrote, and what its model returns."""

import base64
import zlib

# {"model": state dict of Embedding(5, 2), LSTM(2, 2), GRU(2, 2), Conv1d(2, 3, 2), BatchNorm1d(3),
# Linear(3, 2), and two more tensors, "epoch": 3, "rates": (0.5, None)}
_PACKED = (
    "c-p0y32+nF8OJ5rmQQ?Oz=m*`CJk~7Mz`c(@45;oIN~r%LscNCvb>g5WQk9DvI&U;0c_5MKogEYC|7{ca5SVG30~"
    "1jP12!5AuZ{&ArsOx<(Q;&APLhnG~KsPmUmYnB4TGW9>n|q{{Q#(?fbq}qa!0zp~%TmBwfXd{t9>4<MX$%W1HQ`T"
    "|IAZz-}v4%#>V<R2`tuIJ0;`Yp9tGfYRd$1p=%G`9r}--qdh28)low`#mTRRFw>5Xq<WcShlsPx}EiVeF!o=D8$="
    "TyQ0V+h~&A#Y*W-9Xm%ks7zu@4ZTdXO(rBF7yeh(vbbDD)6G@&u5OSmG<jXwBb}IQXTF7x`@P9q?qLAyzLy$Mkp>"
    "Sk5R9%qoP&t%cP_V*>lk`JS$Uu>^gdZG;pw@UEm*3|KXrb80oBGr~0@Xo@FV|6wpg)G?U|1=E4Ir?A2nI1wmIU(&"
    "uyP4Z4}%G8NCI{bfej_FVF-pZFv3~X3v2SbBk^1n5|jZ(@~9jHKM+uzaIZtz3HK4q4-wqYz$h7pB+^JQMyMp12jZ"
    "A2j2TTZV-Qp`FxFYj5A=qk(q+<0I402XoB{-T%u(Z+8OY3xgk?ftX22q6kxW(z%M3My^<aWEj<9M8s}2Fh0PQS{v"
    "qXzjFCkgrM?6W5z$TD7;UPS`@q{t~ft`Ver4*89qJ(0F210oxPH|w$Btn^tU<w0Mo%wj<g@SFpd%IDBsDWu@N(@G"
    "1@Uu}ZgXxY;JgsH$V}g1V!3+j|;>_(u;Y8p}fK+%pYT>6mDFeYwfz%1JaG2SI@EC$Q47dbBQ?NJ6&!hw$xCx;tPV"
    "ittGa;}DS{U#O&m2z>68NNgJ@|?K=W+d9tPc=<D}o>cAz|n7`fxND^as7JR@NPac~Xu6fN;WbP6Trh;Y1O%G0-mD"
    "91*9@9ftW*j1e9um<4gn6BzR(!E_*aih+gBK?D<wwz`_!$m3%pE);fq=CaMOh~VPq%A`=xn>bdUCJrW8%sVI%Ea4"
    "q0D+zfif=&jyg!}Ge-Oas=y-b?U49m&hS%K5392s4(lE44_US35ws}VfIz_Y?F6F9<>uaQzL@ElK3Ay_L=I$<52<"
    "1Yx|c?2&ou-=)83GP4(Y>>>zCLEPIb7EE-3DXLj2=m1_b2DacA<UN$Y-Qk=PBlLgMZ-aUowoHx^2KMgJ-(H@V24A"
    "AC$^JlcOiJ0f!)y#*dxq}zxl|G%Lwch{{Iz?6BilS*8#s0_E{Snj_@S|UUeuV!U4{g2-x2N2YkXenejsm4tBsHUt"
    "$pd$ilBX;I+O%_?dyj9q>B&N+sNL_)P~K;lEIkF?fmLXa^h<#zZ4cLj7Xrg*-ku?#K}S6?P*w0&hG_UnJ#lN*BBt"
    "t!{K==QOyE-@3-H3H~(RwtSW;3KHeBx+N5Dbt6}Nj&@s4qKfJ;@#wV+OYi}KKes0iQCRwj@lxn=2mIb(D;q?1n?Y"
    "8Z@8~icaR9m<uHcnYeP@6Y1)T`c^f+QexVYPG<I?f%y#juO0xZtZS@-c^ywlX*nW0cYNxG7;TD$GRy9h9w?x7oN*"
    "K-Y!fAYxE5_<c&m9a5dhhqztoS{BhK7$@V(i+QOa)!eR2XvpCtl=|gQY0KIO{lZm%5R%+&%!0t&Bj6WrHp~xf@n5"
    "9eD0NQQ|+d@?U(PRD?S?)>$&<d_v%y&*D~T6Zfna>x^v%Eu50gZZu+&axr!B)F`UbE;E{FpymNhuT$$2bdb>@b7&"
    "GHf+=dtLq35jLPPyhEq#Bs=x+k_A=Yq;F>LzDa#(aNJ#U|}~gIgB(2ld#5KT}_>*~VR0ojY-O)g`L`7X}*pmv*)n"
    "r{QnF{-+PFp?2?htL}RDb&9Dv&&~TxO|i~`*ve18;;v`CDXe?>rqF8@JfR{5|2`?-Xt!0Q+!@7ZcT%@DuBB$7_qb"
    "!RnN&~g6!p+MN4o!5^+D~vo>3I`-+$(-Z_@BL-HHE!O&6&tXUEX33-e<`_b=rxO?;O6-G2wtwOzyL`r{+$vLVG(g"
    "MU~|W9_VSJoR^BJ-i=!M{04an<CEuX&$rPR-BY)*I`X;{rL*|^v+zmd7Ux#X;(IN>hl}jv#0*6`|aZ|b8O8j>TKv"
    "e&V6htb!*^JVLiV7PuJWu{4L++U$tIIpPsXfnowzowf*fX*WU9w^~vfo!DqVnyrrBcm8b9-E%mY5ZJIki5zd?X#q"
    "#H$<t&Z|=wsJ!P&?m$iKFYx!a7ep+*p=|f6e#tpZ~!PZV^>_V*WcPxgG62T*aY}PHc;9s{4HZG;ZUi4V3lwn>k;@"
    "W&R!<q?$kai;(NBS+FDZ`WGomW#<roR2IpDEr0)i-HYBmR$K0Up$@YzTwZyzfL9l!U|VEtU7Gbrp;$!sez5=ZQ=Y"
    "t#j=w%_|Go?RhfbY;A{~E2n*N@GD<{qziH&1y)wS6FpQZXhI{wBq{oieGp%;5w=nE|^!unU~|7}jk-;}1mQndCrK"
    "V1F_Hp@xjJx=D$A8eL%TYwU40kuKtqbBX?SI3Qej$<yaqNcswPpGSls}8ABKmSFFDp?->pc{3kd46j=$ld=<sqkF"
    "?wQM4n&it)+G5?cvMZM5{ec7@Zx5k+%y!$%9L^FF={huKZyPw<YeKd9dIb5OdYk-BRN7%5R?|>J$@vluTf3w|I{X"
    "N6z^x7J|R%g^&&AJ+6jag^WnRPmy)nqXm4F*$<!J^liv^7GPJk>Tix3B+G;;@OF;+KNrq~!A7(d26J3qYAfNoOl="
    "_ZlIGh@1E!63ALHB<amT&Jj1_B@#~m97XaAfLt!_k_#pB^*IVz?=IJhJ6WmLnk&=l<XUkTD%GBqYxQ!ixWklc8}n"
    "pZgIp`_4yD>da;;IW6?bw{tu|k#HOaN&E=;ODDc73iT5)G3)z%ltv=+Hm+!aZ+d*xcITr2Keq*_fsnYKo*6?Y~@("
    ")r4@x}=RIZY!kXp@njB(#{h11XA&qByrN#5*KutbCFz}w7107SmvB0PTE}Jaw>B!mWz{im$>#x#T%2vN!v?Y$fRO"
    "TiCmntzr>YD=A0x>+F;^BA{7tluaK86xmbL@50{A7iNxPtc^VyR_2}L@l`$rv94z}=td5^&rM-QRI$L<E;seM}Kv"
    "`;{87zz^WB(6ETtcM"
)

IDS = [[0, 1, 2], [3, 4, 0]]
OUTPUTS = [
    [-0.36188894510269165, -0.11425702273845673],
    [-0.3642807900905609, -0.10420161485671997],
]


def content():
    """Return the bytes of the file."""
    return zlib.decompress(base64.b85decode("".join(_PACKED)))
